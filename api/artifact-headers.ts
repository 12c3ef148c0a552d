import type { ArtifactRef } from '../contract/canonical.ts';

/**
 * The headers under which an artifact's content may reach a browser. Content is hostile: it is what a tool or a page on the
 * Internet said. So it is downloaded and not shown, its type is not guessed, and if it is shown all the same nothing in it runs.
 */
export function artifactHeaders({ artifactId, sha256, contentType }: ArtifactRef, name: string | null) {
  return {
    ETag: entityTag(sha256),
    'Accept-Ranges': 'bytes',
    // asked again each time, and then mostly 304: what was erased is not to live on in a cache
    'Cache-Control': 'private, no-cache',
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${safeFileName(name ?? '', artifactId)}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}

/** The headers that a 304 repeats. */
export const NOT_MODIFIED_HEADERS = ['ETag', 'Cache-Control'] as const;

export function entityTag(sha256: string): string {
  return `"${sha256}"`;
}

/** Whether an `If-None-Match` names the tag; weak tags count (RFC 9110, 13.1.2). */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((listed) => listed.trim().replace(/^W\//, '') === tag);
}

/** A name that any file system takes and no header or shell reads anything into: no path, no dot in front, ASCII. */
export function safeFileName(name: string, fallback: string): string {
  const safe = name
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._-]+/, '')
    .slice(-100)
    .replace(/^[._-]+/, '');
  return safe === '' ? fallback : safe;
}
