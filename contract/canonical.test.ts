import { describe, expect, it } from 'vitest';
import { assertNeverEvent, CANONICAL_KINDS, CanonicalEvent } from './canonical.ts';

const envelope = {
  schemaVersion: 1,
  eventId: 'run_1:0:message.delta:m:0',
  seq: 0,
  runId: 'run_1',
  threadId: 'thr_1',
  ts: 1_700_000_000_000,
  identity: { provider: 'builtin' },
};

describe('the canonical grammar', () => {
  it('has the 30 kinds of the contract, by name', () => {
    expect(CANONICAL_KINDS).toEqual([
      'session.started',
      'session.metadata',
      'turn.started',
      'turn.completed',
      'message.started',
      'message.delta',
      'message.completed',
      'reasoning.delta',
      'reasoning.completed',
      'plan.updated',
      'tool.started',
      'tool.progress',
      'tool.completed',
      'file.changed',
      'artifact.created',
      'artifact.delivered',
      'terminal.output',
      'child.started',
      'child.updated',
      'child.completed',
      'approval.requested',
      'approval.resolved',
      'question.requested',
      'question.resolved',
      'commands.updated',
      'mode.updated',
      'usage.updated',
      'context.marker',
      'harness.warning',
      'harness.error',
    ]);
    expect(CANONICAL_KINDS).toHaveLength(30);
  });

  it('takes an event of the contract and refuses an unknown field, an unknown kind and a wrong type', () => {
    const delta = { ...envelope, kind: 'message.delta', messageId: 'm', text: 'hi' };
    expect(CanonicalEvent.safeParse(delta).success).toBe(true);
    expect(CanonicalEvent.safeParse({ ...delta, extra: 1 }).success).toBe(false);
    expect(CanonicalEvent.safeParse({ ...delta, kind: 'message.deltas' }).success).toBe(false);
    expect(CanonicalEvent.safeParse({ ...delta, text: 7 }).success).toBe(false);
    expect(CanonicalEvent.safeParse({ ...delta, schemaVersion: 2 }).success).toBe(false);
    expect(CanonicalEvent.safeParse({ ...delta, seq: -1 }).success).toBe(false);
  });

  it('holds an artifact reference to its four fields', () => {
    const artifact = { artifactId: 'a', bytes: 3, sha256: 'a'.repeat(64), contentType: 'text/plain' };
    const created = { ...envelope, kind: 'artifact.created', artifact, name: 'out.txt' };
    expect(CanonicalEvent.safeParse(created).success).toBe(true);
    expect(CanonicalEvent.safeParse({ ...created, artifact: { ...artifact, sha256: 'short' } }).success).toBe(false);
  });

  it('throws at run time for a kind that came from outside the types', () => {
    expect(() => assertNeverEvent({ kind: 'delegation.control' } as never)).toThrow('delegation.control');
  });
});
