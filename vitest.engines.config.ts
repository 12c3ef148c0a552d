import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** `npm run test:engines`: engines as people install them, in the place of all other tests. */
export default defineConfig({ test: { ...base.test, include: ['tests/engines/real/*.engine.ts'] } });
