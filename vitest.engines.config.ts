import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

const { projects: _, ...test } = base.test ?? {};

/** `npm run test:engines`: engines as people install them, in the place of all other tests. */
export default defineConfig({ test: { ...test, include: ['tests/engines/real/*.engine.ts'] } });
