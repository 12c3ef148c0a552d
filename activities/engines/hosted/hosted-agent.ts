import type { NativeFrame } from '../../../contract/frames.ts';
import type { EngineAnswer } from '../driver.ts';
import type { HostEnd, HostOpening, HostQuestion } from './host-protocol.ts';

/** What an agent of a kind is made of. */
export type OpenAgent = (module: UserModule, opening: HostOpening) => Promise<HostedAgent>;

/** A module of the user's, in the host's process. */
export interface UserModule {
  /** Its default export; of a function, what it returned. */
  readonly agent: unknown;
  readonly choosesModel: boolean;
  /** A library as the module itself would import it. */
  importLibrary(name: string): Promise<unknown>;
}

/** An agent with its session, in the host's process. */
export interface HostedAgent {
  readonly nativeSessionId: string;
  readonly resumed: boolean;
  readonly resumable: boolean;
  /**
   * One turn.
   *
   * **Contract:** what the agent says goes through `line` in the order in which it came. What a later process needs to go on is kept
   * before it is asked for, and before this resolves. An error of the agent is an end; what this throws ends the process.
   */
  turn(text: string, line: TurnLine): Promise<HostEnd>;
}

export interface ToolOutput {
  readonly toolName: string;
  readonly text: string;
}

/** What a turn may use of its host. */
export interface TurnLine {
  /** Aborts when the turn is to end. */
  readonly signal: AbortSignal;
  /** Resolves when the driver can take more. `output`: what of the frame is a tool's, whole. */
  frame(frame: NativeFrame, output?: ToolOutput | null): Promise<void>;
  /** Whose silence is watched from now on. */
  awaits(who: 'model' | 'tool'): void;
  /** The answers, in the order of the questions; null: the turn ends without them. */
  ask(questions: readonly HostQuestion[]): Promise<readonly EngineAnswer[] | null>;
}

/** The exported thing is no agent: `what` is for a person, `reason` for the log. */
export class AgentRefusal extends Error {
  readonly what: string;

  constructor(what: string, reason: string) {
    super(reason);
    this.what = what;
  }
}
