/** One message of a server, at most, in characters or bytes: an image is a message. */
export const MESSAGE_LIMIT = 16 * 1024 * 1024;
