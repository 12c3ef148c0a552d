import { defineConfig } from '../../infra/define-config.ts';

export default defineConfig({
  engines: { calculator: { kind: 'lifecycle', module: '../../examples/lifecycle-module/calculator.ts' } },
});
