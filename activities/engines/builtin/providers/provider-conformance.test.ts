import { testProviderFaults } from './provider-faults.testsuite.ts';
import { testProvider } from './provider.testsuite.ts';
import { anthropicWire } from './testing/anthropic-wire.ts';
import { completionsWire } from './testing/completions-wire.ts';
import { codexWire, responsesWire } from './testing/responses-wire.ts';

for (const script of [completionsWire, responsesWire, codexWire, anthropicWire]) {
  testProvider(script);
  testProviderFaults(script);
}
