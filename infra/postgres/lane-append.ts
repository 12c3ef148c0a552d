import type { StampedFrame } from '../../contract/frames.ts';
import type { TranslateFrame } from '../../contract/translation.ts';

/** The right to write a step: its attempt. A newer attempt takes a higher one and this one's appends are refused. */
export interface StepWriter {
  readonly stepIndex: number;
  readonly attempt: number;
}

/** Frames to store in a run's lane as one segment, and what else changes with it. */
export interface LaneAppend {
  readonly runId: string;
  readonly provider: string;
  /** Null: the platform speaks about the run as a whole; only the seal refuses it. */
  readonly writer: StepWriter | null;
  readonly frames: readonly StampedFrame[];
  readonly translate: TranslateFrame;
  readonly also?: { readonly seal?: true; readonly openStep?: StepWriter; readonly closeStep?: number };
}
