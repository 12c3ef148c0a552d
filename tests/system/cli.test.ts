import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, SCRIPT } from '../fixtures/cli.ts';
import type { Problem } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();
const run = async (args: readonly string[], input?: string) => await Cli.run(world.stack.url, args, input);
const start = (args: readonly string[]) => Cli.start(world.stack.url, args);
const hasTerminal = existsSync(SCRIPT);

/** What a person typed into a terminal and Ctrl-C. */
const ENTER = '\r';
const CTRL_C = '\u0003';

describe('tidemark chat --presenter print', () => {
  it('gives the answer alone on standard output, to a prompt from the command line or from standard input', async () => {
    const given = await run(['chat', '--presenter', 'print', 'ANSWER', 'this']);
    expect(given).toMatchObject({ code: 0, output: 'The answer is 42. ñ 你好 🌍\n' });
    expect(given.errors).toMatch(/^run run_\S+ in thread thr_\S+\n$/);
    const piped = await run(['chat'], 'ANSWER that\n');
    expect(piped).toMatchObject({ code: 0, output: 'The answer is 42. ñ 你好 🌍\n' });
  });

  it('goes on in a thread, and says nothing of its past', async () => {
    const first = await run(['chat', 'ANSWER first']);
    const threadId = /thr_\S+/.exec(first.errors)?.[0] ?? '';
    const second = await run(['chat', '--thread', threadId, 'PARALLEL second']);
    expect(second).toMatchObject({ code: 0, output: 'Both looks are over.\n' });
    expect(second.errors).toContain('→ list_files');
    expect(second.errors).not.toContain('answer is');
  });

  it('ends with 1 and says what to do when a person is needed, and the run stays', async () => {
    const asked = await run(['chat', 'WRITE it']);
    expect(asked).toMatchObject({ code: 1, output: '' });
    const [interruptId = ''] = /int_[\w-]+/.exec(asked.errors) ?? [];
    expect(asked.errors).toContain(`tidemark approve ${interruptId}, or run with --approve`);
    const answered = await run(['approve', interruptId]);
    expect(answered).toMatchObject({ code: 0, output: expect.stringContaining('approved: write_file') });
    const runId = /run_\S+/.exec(asked.errors)?.[0] ?? '';
    expect(await world.rest.settled(runId)).toMatchObject({ status: 'completed' });
    const question = await run(['chat', 'ASK me']);
    expect(question).toMatchObject({ code: 1, output: '' });
    expect(question.errors).toMatch(/waits for an answer: Which colour\?\nAnswer it: tidemark answer int_\S+ <text>/);
  });

  it('approves everything where that was said', async () => {
    const approved = await run(['chat', '--approve', 'WRITE it down']);
    expect(approved).toMatchObject({ code: 0, output: 'The write turn is over.\n' });
  });

  it('ends with 1 when the run fails, and says why', async () => {
    const failed = await run(['chat', 'ERR401 please']);
    expect(failed).toMatchObject({ code: 1, output: '' });
    expect(failed.errors).toMatch(/run_\S+ failed: provider_auth: /);
  });

  it('cancels the run on Ctrl-C, and ends with 1', async () => {
    const cli = start(['chat', 'SLOW talk']);
    cli.end();
    await expect.poll(() => cli.errors, { timeout: 40_000 }).toMatch(/^run run_\S+ in/);
    const runId = /run_\S+/.exec(cli.errors)?.[0] ?? '';
    await world.rest.until('it works', async () => ((await world.rest.run(runId)).status === 'running' ? true : null));
    cli.kill('SIGINT');
    expect(await cli.ended).toBe(1);
    expect(await world.rest.settled(runId)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
  });
});

describe('tidemark chat --presenter jsonl', () => {
  it('takes prompts and answers as lines and gives every delivery as a line, through an approval', async () => {
    const cli = start(['chat', '--presenter', 'jsonl']);
    cli.type('{"type":"prompt","text":"WRITE by machine"}\n');
    const asked = await cli.line((line) => kindOf(line) === 'approval.requested');
    const { approvalId } = asked['event'] as { approvalId: string };
    cli.type(`{"type":"resolve","interrupt_id":"${approvalId}","decision":{"decision":"approve"}}\n`);
    await cli.line(({ type }) => type === 'complete');
    cli.type('{"type":"prompt","text":"ANSWER by machine"}\n');
    cli.end();
    expect(await cli.ended).toBe(0);
    expect(cli.errors).toBe('');
    const { lines } = cli;
    const seqs = lines.flatMap((line) => ('deliverySeq' in line ? [line['deliverySeq']] : []));
    expect(seqs).toEqual(Array.from(seqs, (_, i) => i + 1));
    expect(lines.filter(({ type }) => type === 'complete')).toHaveLength(2);
    expect(lines.map(({ type }) => type)).toEqual(expect.arrayContaining(['run', 'resolved', 'caught-up', 'event']));
  });

  it('answers each line that is wrong with an error, goes on, and ends with 1', async () => {
    const cli = await run(
      ['chat', '--presenter', 'jsonl'],
      [
        'nonsense',
        '{"type":"prompt"}',
        '{"type":"resolve","interrupt_id":"int_0","decision":{"decision":"approve"}}',
        '{"type":"command","name":"x"}',
      ].join('\n'),
    );
    expect(cli.code).toBe(1);
    const codes = cli.lines.map(({ type, error }) => [type, (error as Problem).code]);
    expect(codes).toEqual([
      ['error', 'invalid_invocation'],
      ['error', 'invalid_invocation'],
      ['error', 'interrupt_not_found'],
      ['error', 'thread_not_found'],
    ]);
  });

  it('ends with 1 when the input ends while something is asked', async () => {
    const cli = await run(['chat', '--presenter', 'jsonl', 'WRITE it'], '');
    expect(cli.code).toBe(1);
    expect(cli.lines).toContainEqual(
      expect.objectContaining({ type: 'error', error: expect.objectContaining({ code: 'interrupt_open' }) }),
    );
  });
});

describe('tidemark chat --presenter terminal', () => {
  it('on pipes takes line after line, each when it is its turn', async () => {
    const cli = await run(
      ['chat', '--presenter', 'terminal'],
      ['ANSWER one', 'WRITE two', 'x', 'a', 'ASK three', '2', ''].join('\n'),
    );
    expect(cli).toMatchObject({ code: 0, errors: '' });
    const places = [
      'The answer is 42.',
      '? write_file asks for approval',
      'Answer with approve, edit, reject, or later.',
      'The write turn is over.',
      '? Which colour?\n  1. red\n  2. blue',
      'Thank you.',
      'Come back: tidemark chat --thread thr_',
    ].map((text) => cli.output.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(cli.output).toContain('· blue');
  });

  it.runIf(hasTerminal)('asks for approval in place, takes other arguments, and leaves at the end', async () => {
    const cli = Cli.startInTerminal(world.stack.url, ['chat']);
    await cli.says('> ');
    cli.type(`WRITE at a terminal${ENTER}`);
    await cli.says('[a]pprove / [e]dit / [r]eject');
    cli.type(`e {"path":"other.txt","content":"edited"}${ENTER}`);
    await cli.says('The write turn is over.');
    expect(cli.output).toContain('I will write a file.');
    await cli.says('> ', cli.output.indexOf('turn is over'));
    cli.type(`/quit${ENTER}`);
    expect(await cli.ended).toBe(0);
    const threadId = /--thread (thr_[\w-]+)/.exec(cli.output)?.[1] ?? '';
    const { body } = await world.rest.send<{ data: { run_id: string }[] }>('GET', `/v1/threads/${threadId}/runs`);
    const events = await world.rest.events({ thread_id: threadId, run_id: body.data[0]?.run_id ?? '' });
    expect(events.find(({ kind }) => kind === 'approval.resolved')).toMatchObject({ decision: 'edit' });
  });

  it.runIf(hasTerminal)(
    'steers a run at work with a line, follows it up with another, and both are said in its one turn',
    async () => {
      const cli = Cli.startInTerminal(world.stack.url, ['chat', 'WRITE while I talk']);
      await cli.says('[a]pprove / [e]dit / [r]eject');
      cli.type(`l${ENTER}`);
      await cli.says('left open; /ask comes back to it');
      cli.type(`ANSWER what steers${ENTER}`);
      const steered = (await cli.says('— for its next step')).length;
      cli.type(`> ANSWER what follows${ENTER}`);
      const followed = (await cli.says('— queued: follow_up', steered)).length;
      cli.type(`/ask${ENTER}`);
      await cli.says('[a]pprove / [e]dit / [r]eject', followed);
      cli.type(`a${ENTER}`);
      await cli.says(/The answer is 42\.[^]*The answer is 42\.[^]*> /, followed);
      cli.type(`/quit${ENTER}`);
      expect(await cli.ended).toBe(0);
      const threadId = /--thread (thr_[\w-]+)/.exec(cli.output)?.[1] ?? '';
      const { body } = await world.rest.send<{ data: { run_id: string }[] }>('GET', `/v1/threads/${threadId}/runs`);
      expect(body.data).toHaveLength(1);
      const events = await world.rest.events(await world.rest.settled(body.data[0]?.run_id ?? ''));
      expect(events.filter(({ kind }) => kind === 'turn.started')).toMatchObject([
        { input: 'WRITE while I talk' },
        { input: 'ANSWER what steers', queue: 'steering' },
        { input: 'ANSWER what follows', queue: 'follow_up' },
      ]);
      expect(events.filter(({ kind }) => kind === 'turn.completed')).toHaveLength(1);
    },
  );

  it.runIf(hasTerminal)('stops the run at the first Ctrl-C and leaves at the next', async () => {
    const cli = Cli.startInTerminal(world.stack.url, ['chat', 'SLOW at a terminal']);
    await cli.says('word3 ');
    cli.type(CTRL_C);
    await cli.says('— cancelled');
    cli.type(CTRL_C);
    await cli.says('once more leaves');
    cli.type(CTRL_C);
    expect(await cli.ended).toBe(0);
  });

  it.runIf(hasTerminal)('shows a conversation again, and comes to what waits in it', async () => {
    const asked = await run(['chat', 'ASK again']);
    const threadId = /thr_\S+/.exec(asked.errors)?.[0] ?? '';
    const cli = Cli.startInTerminal(world.stack.url, ['chat', '--thread', threadId]);
    await cli.says('(/dismiss, /later)');
    expect(cli.output).toContain('> ASK again');
    cli.type(`red${ENTER}`);
    await cli.says('Thank you.');
    cli.type(CTRL_C);
    cli.type(CTRL_C);
    expect(await cli.ended).toBe(0);
  });

  it('carries out nothing that a model writes to the terminal', async () => {
    const cli = await run(['chat', '--presenter', 'terminal'], 'STORE \u001b[31mred.txt\nr no\n');
    expect(cli.output).toContain('\u241b[31m');
    expect(cli.output).not.toContain('\u001b');
  });

  it('has the server’s commands, status and panels, and begins anew when it is told to', async () => {
    const lines = ['ANSWER it', '/nosuch thing', '/panels', '/status', '/help', '/reload', '/new', 'ANSWER again', ''];
    const cli = await run(['chat', '--presenter', 'terminal'], lines.join('\n'));
    expect(cli).toMatchObject({ code: 0, errors: '' });
    const places = [
      'The answer is 42.',
      'there is no command "nosuch"',
      'There is no panel.',
      'openai/scripted\n',
      '  /quit  leave',
      '  /compact  Sums the conversation up',
      'Come back: tidemark chat', // the presenter is run again
      'Thread thr_',
      '— a new conversation',
      '> ANSWER again',
    ].map((text) => cli.output.indexOf(text));
    expect(places).not.toContain(-1);
    expect(cli.output.split('The answer is 42.')).toHaveLength(3);
  });
});

describe('a presenter of an extension', () => {
  const markdown = join(import.meta.dirname, '../../examples/presenter-markdown/markdown.ts');

  it('is chosen by its name and runs the conversation', async () => {
    const cli = await run(['chat', '--extension', markdown, '--presenter', 'markdown', 'PARALLEL looks']);
    expect(cli).toMatchObject({
      code: 0,
      errors: '',
      output: '# PARALLEL looks\n\nBoth looks are over.\n\n- list_files\n- list_files\n',
    });
  });

  it('that fails says so under its extension’s name', async () => {
    const cli = await run(['chat', '--extension', markdown, '--presenter', 'markdown']);
    expect(cli).toMatchObject({ code: 1, output: '', errors: `extension ${markdown}: give a prompt\n` });
  });

  it('that is not there, or cannot be loaded, is wrong usage', async () => {
    const missing = await run(['chat', '--presenter', 'hologram', 'x']);
    expect(missing).toMatchObject({ code: 2, output: '' });
    expect(missing.errors).toContain('there is no presenter "hologram"; there are terminal, print, jsonl');
    const broken = await run(['chat', '--extension', './no-such-file.ts', 'x']);
    expect(broken).toMatchObject({ code: 2, errors: expect.stringContaining('no-such-file.ts') });
  });
});

describe('the other commands', () => {
  it('list, decide, cancel, follow and verify, as JSON documents', async () => {
    const { run_id: runId, thread_id: threadId } = await world.rest.startRun('WRITE for the commands');
    await world.rest.interruptOf(runId);
    const open = await run(['interrupts', '--thread', threadId, '--json']);
    const [interrupt] = (open.lines[0] as { data: { interrupt_id: string }[] }).data;
    expect(open.lines).toEqual([{ ok: true, data: [expect.objectContaining({ run_id: runId, kind: 'approval' })] }]);
    const unproven = await run(['verify', runId, '--json']);
    expect(unproven).toMatchObject({
      code: 1,
      lines: [{ ok: true, verification: { holds: false, why: 'not_complete' } }],
    });
    const rejected = await run(['reject', interrupt?.interrupt_id ?? '', 'not', 'today', '--json']);
    expect(rejected.lines).toMatchObject([
      { ok: true, interrupt: { decision: { decision: 'reject', message: 'not today' } } },
    ]);
    const twice = await run(['approve', interrupt?.interrupt_id ?? '', '--json']);
    expect(twice).toMatchObject({ code: 1, lines: [{ ok: false, error: { code: 'interrupt_already_resolved' } }] });
    await world.rest.settled(runId);
    const proven = await run(['verify', runId]);
    expect(proven).toMatchObject({ code: 0, output: expect.stringMatching(/^run_\S+ proven: /) });
    const runs = await run(['runs', threadId]);
    expect(runs.output).toMatch(new RegExp(`^${runId}  completed`));
    const followed = await run(['follow', threadId, '--until-idle', '--json']);
    const seqs = followed.lines.flatMap((line) => ('deliverySeq' in line ? [line['deliverySeq']] : []));
    expect(seqs).toEqual(Array.from(seqs, (_, i) => i + 1));
    const cancelled = await run(['cancel', runId]);
    expect(cancelled).toMatchObject({ code: 0, output: `${runId} completed (stop)\n` });
  });

  it('answer a question, and stop a run and wait for that', async () => {
    const asked = await world.rest.startRun('ASK by command');
    const [question] = await world.rest.interruptOf(asked.run_id);
    const answered = await run(['answer', question?.interrupt_id ?? '', 'dark', 'red']);
    expect(answered).toMatchObject({ code: 0, output: expect.stringContaining('answered') });
    const slow = await world.rest.startRun('SLOW by command');
    const stopped = await run(['cancel', slow.run_id, '--wait']);
    expect(stopped).toMatchObject({ code: 0, output: `${slow.run_id} failed (cancelled)\n` });
  });

  it('that are called wrongly end with 2, and those that fail with 1 and a remedy', async () => {
    expect(await run(['verify'])).toMatchObject({
      code: 2,
      output: '',
      errors: expect.stringContaining('verify needs an id'),
    });
    expect(await run(['dance', '--json'])).toMatchObject({
      code: 2,
      lines: [{ ok: false, error: { code: 'invalid_invocation' } }],
    });
    expect(await run(['approve', 'x', '--args', '{'])).toMatchObject({ code: 2 });
    expect(await run(['--help'])).toMatchObject({ code: 0, output: expect.stringContaining('Usage: tidemark') });
    const missing = await run(['verify', 'run_none']);
    expect(missing).toMatchObject({ code: 1, output: '' });
    expect(missing.errors).toMatch(/^there is no such run\nCheck the run id/);
    const nobody = await Cli.run('http://127.0.0.1:1', ['threads', '--json']);
    expect(nobody).toMatchObject({ code: 1, lines: [{ ok: false, error: { code: 'no_answer' } }] });
  });
});

function kindOf(line: Record<string, unknown>): unknown {
  return (line['event'] as { readonly kind?: unknown } | undefined)?.kind;
}
