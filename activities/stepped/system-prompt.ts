const DEFAULT = [
  'You are an agent that runs on Tidemark. Work with the tools you are given; every path is relative to the workspace.',
  'Writing or editing a file and running a command need the approval of a person: call the tool, and it is asked for.',
  'A call that was rejected, or whose outcome is unknown, is not to be repeated unless the user says so.',
].join('\n');

const SUB_AGENT = [
  'You are a sub-agent: another agent gave you the task that follows, and nobody else reads what you say.',
  'Your last message is the result that it gets: put all that it has to know into that message.',
].join('\n');

/** The system prompt of a run: the caller's own, or the default one. */
export function systemPrompt(custom: string | undefined): string {
  return custom ?? DEFAULT;
}

/** The system prompt of a sub-agent in a run with this one. */
export function subAgentPrompt(prompt: string): string {
  return `${prompt}\n\n${SUB_AGENT}`;
}
