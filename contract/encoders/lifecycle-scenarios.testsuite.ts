import type { LifecycleBody, LifecycleEvent } from '../lifecycle.ts';
import {
  approvals,
  begin,
  enter,
  exit,
  finish,
  leg,
  pause,
  reasoning,
  text,
  textDelta,
  textEnd,
  textStart,
  toolArgs,
  toolEnd,
  toolError,
  toolStart,
  usage,
  within,
} from './lifecycle-bodies.testsuite.ts';

/** One leg, event by event; what the golden files and the suites of every encoding are made from. */
export interface Scenario {
  readonly name: string;
  readonly events: readonly LifecycleEvent[];
  /** Calls that the leg before left without a result. */
  readonly unanswered?: readonly string[];
}

export const SCENARIO_AGENT = 'Ada';

const form: LifecycleBody = {
  type: 'interrupt.requested',
  data: {
    interrupt_id: 'int_1',
    interrupt_type: 'form_input',
    agent_id: 'agent_ada',
    prompt: 'Wohin soll die Lieferung? 📦',
    fields: [
      {
        field_name: 'address',
        field_type: 'text',
        required: true,
        field_label: 'Address',
        placeholder: 'Street, city',
      },
      {
        ...{ field_name: 'speed', field_type: 'select', required: false },
        ...{ field_values: ['normal', 'fast'], default_value: 'normal', field_description: 'How fast' },
      },
      { field_name: 'extras', field_type: 'multiselect', required: false, field_values: ['gift', 'insured'] },
      { field_name: 'copies', field_type: 'number', required: true, value: 2 },
    ],
  },
};

const deletion = ['call_1', 'delete_file', { path: '/tmp/übung.txt', depth: 1.5 }] as const;
const mail = [
  'call_2',
  'send_mail',
  { to: 'a@b.example', lines: ['hi', 'there'], draft: false, reply_to: null },
] as const;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'text',
    events: leg([
      begin,
      ...text('msg_1', '', 'Grüße aus 東京', ' ', '\n', '“quoted”\\ \u2028 🧑‍🚀', ''),
      ...text('msg_2'),
      finish,
    ]),
  },
  {
    name: 'reasoning',
    events: leg([begin, ...reasoning('msg_1', 'First ', '', 'think.'), ...text('msg_1', 'Then speak.'), finish]),
  },
  {
    name: 'parallel-tools',
    events: leg([
      begin,
      ...text('msg_1', 'Looking in two places.'),
      toolStart('call_1', 'search', { query: 'naïve', limit: 3 }, 'msg_1'),
      toolStart('call_2', 'list', {}, 'msg_1'),
      toolEnd('call_2', ''),
      toolEnd('call_1', 'The reviewer rejected it. ERROR: is only a word here.'),
      ...text('msg_2', 'Found it.'),
      finish,
    ]),
  },
  {
    name: 'streamed-arguments',
    events: leg([
      begin,
      toolStart('call_1', 'write'),
      toolStart('call_2', 'read'),
      toolArgs('call_1', '{"path": "a}.txt",'),
      toolArgs('call_2', ''),
      toolArgs('call_2', '{"path"'),
      toolArgs('call_1', '"text":"\\"ü\\""}'),
      toolArgs('call_2', ':"b.txt"}\n'),
      toolEnd('call_1', `written ${'é'.repeat(2_000)}`),
      toolEnd('call_2', `read ${'x'.repeat(1_995)}...[4000 chars]`),
      finish,
    ]),
  },
  {
    name: 'tool-error',
    events: leg([
      begin,
      toolStart('call_1', 'fetch', { url: 'https://example.org/?q=<a>&b' }),
      toolError('call_1', 'the host did not answer'),
      ...text('msg_1', 'No luck.'),
      finish,
    ]),
  },
  {
    name: 'warning',
    events: leg([
      begin,
      {
        type: 'warning',
        data: { code: 'mcp_server_unavailable', message: 'Server “files” is away.', details: { server: 'files' } },
      },
      usage(10, 5),
      { type: 'provider.metadata', data: { provider: 'example', model: 'example-1', metadata: { region: 'eu' } } },
      ...text('msg_1', 'Going on without files.'),
      usage(30, 12),
      finish,
    ]),
  },
  {
    name: 'user-input',
    events: leg([
      begin,
      ...text('msg_1', 'I take the blue one.'),
      {
        type: 'warning',
        data: {
          code: 'input_injected',
          message: 'new input: No, the “red” one. And hurry.',
          details: { input_id: 'inp_1', queue: 'steering', text: 'No, the “red” one.\nAnd hurry.' },
        },
      },
      ...text('msg_2', 'The red one, then.'),
      finish,
    ]),
  },
  {
    name: 'sub-agents',
    events: leg([
      begin,
      ...text('msg_1', 'Delegating.'),
      toolStart('call_1', 'task', { goal: 'research' }, 'msg_1'),
      toolStart('call_2', 'task', { goal: 'review' }, 'msg_1'),
      enter(['child_1'], 'call_1', 'agent_research', 'Researcher'),
      enter(['child_2'], 'call_2', 'agent_review', 'Reviewer'),
      ...within(['child_1'], textStart('msg_2'), textDelta('msg_2', 'Reading. ')),
      ...within(['child_2'], textStart('msg_3'), textDelta('msg_3', 'Reviewing.')),
      ...within(['child_1'], textDelta('msg_2', 'Still reading.'), textEnd('msg_2')),
      ...within(['child_1'], toolStart('call_3', 'task', { goal: 'deeper' }, 'msg_2')),
      enter(['child_1', 'child_3'], 'call_3', 'agent_deep', 'Diver'),
      ...within(['child_1', 'child_3'], toolStart('call_4', 'search', { query: 'x' }), toolEnd('call_4', 'found')),
      exit(['child_1', 'child_3'], 'call_3', 'agent_deep', 'success'),
      ...within(['child_1'], toolEnd('call_3', 'dived')),
      ...within(['child_2'], textEnd('msg_3')),
      exit(['child_2'], 'call_2', 'agent_review', 'error'),
      exit(['child_1'], 'call_1', 'agent_research', 'success'),
      toolError('call_2', 'the reviewer failed'),
      toolEnd('call_1', 'researched'),
      ...text('msg_4', 'Done.'),
      finish,
    ]),
  },
  {
    name: 'form-interrupt',
    events: leg([begin, ...text('msg_1', 'I need an address.'), form, pause('human_input')]),
  },
  {
    name: 'approval-interrupt',
    events: leg([
      begin,
      textStart('msg_1'),
      textDelta('msg_1', 'May I?'),
      toolStart(...deletion, 'msg_1'),
      usage(100, 20),
      approvals([deletion]),
      textEnd('msg_1'),
      pause('tool_approval'),
    ]),
  },
  {
    name: 'approval-interrupts',
    events: leg([
      begin,
      ...text('msg_1', 'May I do both?'),
      toolStart(...deletion, 'msg_1'),
      toolStart(...mail, 'msg_1'),
      approvals([deletion, mail]),
      pause('tool_approval'),
    ]),
  },
  {
    name: 'sub-agent-interrupt',
    events: leg([
      begin,
      toolStart('call_0', 'task', { goal: 'tidy up' }),
      enter(['call_0'], 'call_0', 'agent_tidy', 'Tidier'),
      ...within(['call_0'], ...text('msg_1', 'This can go.'), toolStart(...deletion, 'msg_1')),
      exit(['call_0'], 'call_0', 'agent_tidy', 'interrupted'),
      approvals([deletion], 'agent_tidy'),
      pause('tool_approval'),
    ]),
  },
  {
    name: 'resume',
    unanswered: ['call_1', 'call_2'],
    events: leg(
      [
        begin,
        toolStart(...deletion, 'msg_1'),
        toolStart(...mail, 'msg_1'),
        toolEnd('call_1', 'deleted'),
        toolError('call_2', 'rejected by a person: not now'),
        ...text('msg_2', 'One of two.'),
        finish,
      ],
      'run_1.2',
    ),
  },
  {
    name: 'cancel',
    events: leg([
      begin,
      textStart('msg_1'),
      textDelta('msg_1', 'I was about to'),
      toolStart('call_1', 'run'),
      toolArgs('call_1', '{"cmd":"sle'),
      { type: 'run.cancelled', data: { reason: 'client_request', side_effect_status: 'possible' } },
    ]),
  },
  {
    name: 'error',
    events: leg([
      begin,
      { type: 'reasoning.started', data: { message_id: 'msg_1' } },
      { type: 'reasoning.delta', data: { message_id: 'msg_1', delta: 'Hm' } },
      textStart('msg_2'),
      textDelta('msg_2', 'Let me'),
      toolStart('call_1', 'run', {}, 'msg_2'),
      {
        type: 'run.error',
        data: {
          ...{ code: 'provider_unavailable', message: 'The model did not answer – try again.', retryable: true },
          ...{ retry_after_seconds: 5, side_effect_status: 'possible' },
        },
      },
    ]),
  },
  { name: 'finish', events: leg([begin, finish]) },
];
