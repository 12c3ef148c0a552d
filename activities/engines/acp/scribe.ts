import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, FrameContext } from '../../../contract/translation.ts';
import type { AcpState } from './acp-state.ts';

/** Whose frame it is: the turn's own session (`child` is null) or a child's. */
export interface Speaker {
  readonly child: string | null;
  readonly native: NonNullable<Emission['native']>;
}

/** Writes down what one frame says and what is to be remembered of it; lives as long as the frame's translation. */
export class Scribe {
  readonly context: FrameContext;
  readonly said: Emission[] = [];
  state: AcpState;

  constructor(state: AcpState, context: FrameContext) {
    this.state = state;
    this.context = context;
  }

  say(speaker: Speaker, ...bodies: readonly CanonicalBody[]): void {
    const { native } = speaker;
    for (const body of bodies) this.said.push(Object.keys(native).length === 0 ? { body } : { body, native });
  }

  remember(part: Partial<AcpState>): void {
    this.state = { ...this.state, ...part };
  }

  /** The turn's own session. */
  get self(): Speaker {
    const { sessionId } = this.state;
    return { child: null, native: sessionId === null ? {} : { nativeSessionId: sessionId } };
  }

  childSpeaker(child: string): Speaker {
    const { sessionId } = this.state;
    const parent = sessionId === null ? {} : { nativeParentSessionId: sessionId };
    return { child, native: { nativeSessionId: child, ...parent } };
  }
}
