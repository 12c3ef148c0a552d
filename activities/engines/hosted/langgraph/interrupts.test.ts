import { expect, test } from 'vitest';
import type { EngineAnswer } from '../../driver.ts';
import { askedBy, resumeOf } from './interrupts.ts';

const action = (name: string, args: object) => ({ name, args, description: `May ${name}?` });
const hitl = (actions: readonly object[], allowed?: readonly string[]) => ({
  actionRequests: actions,
  ...(allowed === undefined ? {} : { reviewConfigs: [{ actionName: 'rm', allowedDecisions: allowed }] }),
});
const APPROVED: EngineAnswer = { status: 'approved', always: false };

test('each action of an interrupt is an approval of the open call with its name and arguments, once', () => {
  const calls = [
    { id: 'c1', name: 'rm', args: { path: 'a' } },
    { id: 'c2', name: 'rm', args: { path: 'b' } },
    { id: 'c3', name: 'rm', args: { path: 'b' } },
  ];
  const actions = [action('rm', { path: 'b' }), action('rm', { path: 'b' }), action('rm', { path: 'none' })];
  const [asked] = askedBy([{ id: 'i', value: hitl(actions) }], calls);
  expect(asked?.questions.map(({ toolCallId }) => toolCallId)).toEqual(['c2', 'c3', '0:i:2']);
});

test.each([
  [undefined, ['approve', 'reject']],
  [
    ['edit', 'approve'],
    ['approve', 'edit'],
  ],
  [['respond'], ['approve', 'reject']],
])('what is allowed, %j, is what is offered', (allowed, options) => {
  const [asked] = askedBy([{ id: 'i', value: hitl([action('rm', {})], allowed) }], []);
  expect(asked?.questions).toMatchObject([{ options }]);
});

test('one interrupt is resumed with its value, several each by its id', () => {
  const interrupts = [
    { id: 'i', value: hitl([action('rm', { a: 1 }), action('rm', { a: 2 })]) },
    { id: 'j', value: 'Which colour?' },
  ];
  const answers: EngineAnswer[] = [
    { status: 'edited', arguments: { a: 3 } },
    { status: 'rejected', message: null },
    { status: 'answered', values: { answer: 'blue' } },
  ];
  const decisions = [{ type: 'edit', editedAction: { name: 'rm', args: { a: 3 } } }, { type: 'reject' }];
  expect(resumeOf(askedBy(interrupts, []), answers)).toEqual({ i: { decisions }, j: 'blue' });
  expect(resumeOf(askedBy(interrupts.slice(0, 1), []), answers)).toEqual({ decisions });
});

test("nobody's answer approves nothing", () => {
  const asked = askedBy([{ id: 'i', value: hitl([action('rm', {}), action('rm', {})]) }], []);
  expect(resumeOf(asked, [APPROVED])).toMatchObject({ decisions: [{ type: 'approve' }, { type: 'reject' }] });
  expect(resumeOf(askedBy([{ id: 'j', value: { odd: true } }], []), [{ status: 'expired' }])).toBe('(no answer)');
});
