import { describe, expect, it } from 'vitest';
import { agUiEncoder } from './ag-ui.ts';
import { initialAgUi } from './ag-ui-state.ts';
import { agUiLegacyEncoder } from './ag-ui-legacy.ts';
import { customEncoder } from './custom.ts';
import { lifecycleEncoder } from './lifecycle.ts';
import type { LegEncoder } from './lifecycle-encoding.ts';
import { SCENARIO_AGENT, SCENARIOS, type Scenario } from './lifecycle-scenarios.testsuite.ts';

function bytes<State>(encoder: LegEncoder<State>, { events }: Scenario, initial: State = encoder.initial): string {
  let state = initial;
  let text = '';
  for (const [i, event] of events.entries()) {
    const encoded = encoder.encode(state, event, { agentName: SCENARIO_AGENT, deliverySeq: 40 + i });
    state = JSON.parse(JSON.stringify(encoded.state)) as State;
    text += encoded.frames.join('');
  }
  return text;
}

const ENCODINGS: Record<string, (scenario: Scenario) => string> = {
  lifecycle: (scenario) => bytes(lifecycleEncoder, scenario),
  custom: (scenario) => bytes(customEncoder, scenario),
  'ag-ui': (scenario) => bytes(agUiEncoder, scenario, initialAgUi(scenario.unanswered)),
  'ag-ui-legacy': (scenario) => bytes(agUiLegacyEncoder, scenario),
};

describe.each(Object.entries(ENCODINGS))('encoding=%s', (encoding, encode) => {
  it.each(SCENARIOS)('writes the known bytes for $name, and its state is plain JSON', async (scenario) => {
    await expect(encode(scenario)).toMatchFileSnapshot(`__golden__/${scenario.name}.${encoding}.txt`);
  });
});
