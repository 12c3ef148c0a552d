import { pathOf, type Abortable, type Transport } from './transport.ts';

export interface ArtifactContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Of the whole artifact, in hex. */
  readonly sha256: string;
}

/** Which bytes of an artifact: both ends count, from 0. */
export interface ByteSpan {
  readonly first: number;
  readonly last?: number;
}

/** Content too large for the log. */
export class Artifacts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** An artifact's bytes, or a part of them. */
  async read(
    artifactId: string,
    { span, signal }: { readonly span?: ByteSpan } & Abortable = {},
  ): Promise<ArtifactContent> {
    const range = span === undefined ? {} : { range: `bytes=${String(span.first)}-${String(span.last ?? '')}` };
    const headers = { accept: '*/*', ...range };
    const request = { method: 'GET', path: pathOf`/v1/artifacts/${artifactId}`, headers, signal } as const;
    return await this.#transport.read(request, async (response) => ({
      bytes: new Uint8Array(await response.arrayBuffer()),
      contentType: response.headers.get('content-type') ?? 'application/octet-stream',
      sha256: (response.headers.get('etag') ?? '').replaceAll('"', ''),
    }));
  }
}
