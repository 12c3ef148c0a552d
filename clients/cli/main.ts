#!/usr/bin/env node
import { stderr, stdin, stdout } from 'node:process';
import { runCommandLine } from './command-line.ts';

// who reads no more (`| head`) has seen enough
for (const output of [stdout, stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}
process.exitCode = await runCommandLine(process.argv.slice(2), { input: stdin, output: stdout, errors: stderr });
