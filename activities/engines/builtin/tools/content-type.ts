import { posix } from 'node:path';

const TEXT = 'charset=utf-8';
const BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['.txt', `text/plain; ${TEXT}`],
  ['.log', `text/plain; ${TEXT}`],
  ['.md', `text/markdown; ${TEXT}`],
  ['.csv', `text/csv; ${TEXT}`],
  ['.html', `text/html; ${TEXT}`],
  ['.diff', `text/x-diff; ${TEXT}`],
  ['.patch', `text/x-diff; ${TEXT}`],
  ['.json', 'application/json'],
  ['.jsonl', 'application/x-ndjson'],
  ['.xml', 'application/xml'],
  ['.yaml', 'application/yaml'],
  ['.yml', 'application/yaml'],
  ['.pdf', 'application/pdf'],
  ['.zip', 'application/zip'],
  ['.gz', 'application/gzip'],
  ['.tar', 'application/x-tar'],
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
  ['.svg', 'image/svg+xml'],
  ['.mp3', 'audio/mpeg'],
  ['.mp4', 'video/mp4'],
]);

/** The content type that a file's name tells; bytes of an unknown kind where it tells none. */
export function contentTypeOf(name: string): string {
  return BY_EXTENSION.get(posix.extname(name).toLowerCase()) ?? 'application/octet-stream';
}
