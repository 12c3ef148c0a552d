/** What a ratio is to reach, and the row of the research's targets table (perf.md, "Targets") that says so. */
export interface Target {
  readonly row: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

const APPEND = 'append, 128 concurrent runs, one event at a time';
const POST = 'POST → first model text on the stream';
const REPLAY = 'replay, completed run: cold / hot';
const FAN_OUT = 'fan-out, 1,000 subscribers × 20/s';
const FAN_OUT_LOAD = 'fan-out under load, 1,000 subscribers × 500/s';
const ENCODE = 'validate + project + encode, any encoding';
const CANONICALIZE = 'canonicalization';

export const TARGET = {
  firstModelText: { row: POST, atMost: 1.3 },
  appendOverTransactions: { row: APPEND, atLeast: 5 },
  appendOverRawInsert: { row: APPEND, atLeast: 0.6 },
  replayCold: { row: REPLAY, atLeast: 0.08 },
  replayHot: { row: REPLAY, atLeast: 0.7 },
  replayFirstByteMs: { row: REPLAY, atMost: 20 },
  fanOutCpu: { row: FAN_OUT, atMost: 1.1 },
  fanOutKilobytesAConnection: { row: FAN_OUT, atMost: 30 },
  loadDelivered: { row: FAN_OUT_LOAD, atLeast: 1 },
  loadP99Ms: { row: FAN_OUT_LOAD, atMost: 50 },
  loadOverWriteAnEvent: { row: FAN_OUT_LOAD, atLeast: 5 },
  encodeMicros: { row: ENCODE, atMost: 15 },
  encodeBatchMs: { row: ENCODE, atMost: 25 },
  canonicalizeFramesPerSecond: { row: CANONICALIZE, atLeast: 50_000 },
  // "linear": four times the frames take at most a quarter longer for each
  canonicalizeLinear: { row: CANONICALIZE, atLeast: 0.8 },
} as const satisfies Record<string, Target>;
