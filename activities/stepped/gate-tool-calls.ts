import { join } from 'node:path';
import type { StampedFrame } from '../../contract/frames.ts';
import type { GatePlan } from '../../contract/run-plan.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import { commitGate, type ToolReply } from '../../infra/postgres/gate.ts';
import { expireInterrupts, interruptsOfRun, type InterruptRow } from '../../infra/postgres/interrupt.ts';
import { assistantMessageOfStep, sessionHead } from '../../infra/postgres/message.ts';
import { readRun } from '../../infra/postgres/run.ts';
import { verdictsOf, type ToolVerdict } from '../../infra/postgres/tool-verdict.ts';
import { agentOf } from '../agent-of.ts';
import { toolsOfStep } from './agent-of-step.ts';
import type { Dependencies } from '../dependencies.ts';
import { LoopEvents } from '../engines/builtin/extensions/loop-events.ts';
import { withVoice } from '../engines/builtin/extensions/run-voice.ts';
import { translateBuiltinFrame } from '../engines/builtin/translate.ts';
import { argumentsOf, isForHooks, judgeCall, type Gated, type KnownCall } from './judge-call.ts';
import { isToolAllowed } from './tool-restriction.ts';

/** Both together are within the time of a local activity. */
const MCP_WITHIN_MS = 10_000;
const HOOKS_WITHIN_MS = 15_000;

/**
 * Decides about the tool calls of a model step (`judge-call.ts`), and commits what follows: interrupts, and answers to the calls that
 * will not run.
 *
 * **Contract:** safe to repeat, and repeated while the run is parked: it tells how the calls stand now. Every call ends as `run`
 * or `answered`; none is ever dropped. The hooks are asked once about a call's arguments: what they said is stored.
 */
export function createGateToolCalls(deps: Dependencies) {
  const { pool, extensions, mcp, config } = deps;
  return async function gateToolCalls({ runId, modelStep }: { runId: string; modelStep: number }): Promise<GatePlan> {
    const run = await readRun(pool, runId);
    const message = await assistantMessageOfStep(pool, runId, modelStep);
    const content = message?.role === 'assistant' ? message.content : [];
    const calls = content.filter((block) => block.type === 'tool-call');
    const tools = await toolsOfStep(deps, runId, modelStep);
    // a worker that has just started may not know yet what the model was told by another
    if (calls.some(({ name }) => tools.get(name) === undefined)) await mcp.settled(MCP_WITHIN_MS);
    const expiresInMs = await expireInterrupts(pool, runId);
    let look = await gate();
    // what was just asked may have been answered already, and of two gates the first one's verdicts hold: one more look
    if (look.isNews) {
      crashPoint('interrupt.committed');
      look = await gate();
    }
    const untilNext = look.pending.length === 0 ? null : (expiresInMs ?? (await expireInterrupts(pool, runId)));
    return { calls: look.gated.map(({ call }) => call), pending: look.pending, expiresInMs: untilNext };

    /** One look: what a call's state is and what is pending come from the same read of the interrupts. */
    async function gate(): Promise<{ gated: Gated[]; pending: string[]; isNews: boolean }> {
      const interrupts = await interruptsOfRun(pool, runId);
      const asked = new Map(interrupts.map((interrupt) => [interrupt.step_index, interrupt]));
      const seen = calls.map((call, index) => {
        const stepIndex = modelStep + 1 + index;
        const tool = tools.get(call.name);
        const isAllowed = isToolAllowed(call.name, run.settings);
        const absence = tool === undefined ? mcp.absence(call.name) : null;
        return { call, stepIndex, tool, absence, isAllowed, interrupt: asked.get(stepIndex) };
      });
      const { vetoes, verdicts, said } = await judgedByHooks(seen);
      const gated = seen.map((known, index) => judgeCall({ ...known, veto: vetoes[index] ?? null }));
      const requests = gated.flatMap(({ request }) => request ?? []);
      const answered = await commitGate(pool, {
        runId,
        modelStep,
        interrupts: requests,
        replies: gated.flatMap(({ reply }) => reply ?? []),
        verdicts,
        said,
        provider: 'builtin',
        translate: translateBuiltinFrame,
      });
      await sayAnswered(answered);
      const isMine = ({ step_index: step }: InterruptRow) => step > modelStep && step <= modelStep + calls.length;
      const open = interrupts.filter((interrupt) => interrupt.status === 'pending' && isMine(interrupt));
      const pending = open.map((interrupt) => interrupt.interrupt_id);
      return { gated, pending, isNews: requests.length + verdicts.length > 0 };
    }

    async function sayAnswered(answers: readonly ToolReply[]): Promise<void> {
      const events = new LoopEvents(extensions, agentOf(run, modelStep));
      for (const { message: result } of answers) {
        events.toolEnded(result);
        await events.appended(result, async () => (await sessionHead(pool, runId)).revision);
      }
    }

    /** The veto of each call: the stored verdict's, or the hooks', in the order of the calls. */
    async function judgedByHooks(
      seen: readonly Omit<KnownCall, 'veto'>[],
    ): Promise<{ vetoes: (string | null)[]; verdicts: ToolVerdict[]; said: StampedFrame[] }> {
      const said: StampedFrame[] = [];
      const within = AbortSignal.timeout(HOOKS_WITHIN_MS);
      const verdicts: ToolVerdict[] = [];
      const stored = await verdictsOf(pool, { runId, first: modelStep + 1, last: modelStep + calls.length });
      const vetoes: (string | null)[] = [];
      for (const known of seen) vetoes.push(isForHooks(known) ? await vetoFor(known) : null);
      return { vetoes, verdicts, said };

      async function vetoFor(known: Omit<KnownCall, 'veto'>): Promise<string | null> {
        const { call, stepIndex, tool } = known;
        const { args, edited } = argumentsOf(known);
        const verdict = stored.find((one) => one.stepIndex === stepIndex && one.edited === edited);
        if (verdict !== undefined) return verdict.reason;
        if (tool === undefined || !extensions.hasHooks) return null;
        const { name, description, parameters } = tool;
        const context = {
          agent: agentOf(run, stepIndex),
          toolCallId: call.id,
          tool: { name, description, parameters },
          cwd: join(config.workspaceRoot, run.thread_id),
        };
        const reason = await withVoice(
          (frame) => said.push({ at: Date.now(), frame }),
          async () => await extensions.vetoOf({ toolName: name, args, context, within }),
        );
        verdicts.push({ stepIndex, edited, reason });
        return reason;
      }
    }
  };
}
