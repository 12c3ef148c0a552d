import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { Emission, FrameContext } from '../../../contract/translation.ts';
import type { Speaker } from './speakers.ts';
import type { LangGraphState } from './translation-state.ts';

/** Writes down what one frame says and what is to be remembered of it; lives as long as the frame's translation. */
export class Scribe {
  readonly context: FrameContext;
  readonly said: Emission[] = [];
  state: LangGraphState;

  constructor(state: LangGraphState, context: FrameContext) {
    this.state = state;
    this.context = context;
  }

  say({ child, parent }: Speaker, ...bodies: readonly CanonicalBody[]): void {
    const native = { nativeSessionId: child ?? '', nativeParentSessionId: parent ?? this.context.runId };
    for (const body of bodies) this.said.push(child === null ? { body } : { body, native });
  }

  remember(part: Partial<LangGraphState>): void {
    this.state = { ...this.state, ...part };
  }
}
