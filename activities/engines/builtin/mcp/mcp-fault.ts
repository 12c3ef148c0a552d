interface FaultFacts {
  readonly isUndelivered?: boolean;
  readonly endsConnection?: boolean;
  readonly cause?: unknown;
}

/** Why a server cannot be used, in words that hold nothing of what the server itself said. */
export class McpFault extends Error {
  /** The call has not reached the server: it may be made again. */
  readonly isUndelivered: boolean;
  /** Nothing more can be asked on this connection. */
  readonly endsConnection: boolean;

  constructor(reason: string, { isUndelivered = false, endsConnection = true, cause }: FaultFacts = {}) {
    super(reason, cause === undefined ? undefined : { cause });
    this.name = 'McpFault';
    this.isUndelivered = isUndelivered;
    this.endsConnection = endsConnection;
  }
}
