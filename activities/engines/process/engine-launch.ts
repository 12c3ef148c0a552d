import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

/** Stands in the environment of every process of an engine, so that one which left the process group is still found. */
export const MARK_VARIABLE = 'TIDEMARK_ENGINE_MARK';
/** Stands instead in the environment of the shell that watches for the worker's death. */
export const WATCH_VARIABLE = 'TIDEMARK_ENGINE_WATCH';

/** The worker's end of the pipe whose closing ends the group. */
const LIFELINE_FD = 3;

/**
 * Starts the watcher, then becomes the engine. The watcher is there before the engine is, so that there is no moment at which a
 * dying worker leaves one behind; signals are ignored from before it is forked, so that a TERM to the group never takes it.
 */
const LAUNCH = `
watch=$1
shift
trap '' TERM INT HUP
(
  mark=$${MARK_VARIABLE}
  unset ${MARK_VARIABLE}
  ${WATCH_VARIABLE}=1
  export ${WATCH_VARIABLE}
  exec /bin/sh -c "$watch" tidemark-engine-watch "$$" "$mark"
) <&${LIFELINE_FD} ${LIFELINE_FD}<&- >/dev/null 2>&1 &
trap - TERM INT HUP
exec "$@" ${LIFELINE_FD}<&-
`;

/** Nobody writes to the lifeline: its end is the worker's end. The last line ends the watcher too. */
const WATCH = `
while read -r _; do :; done
marked() {
  for file in $(grep -lsxzF "${MARK_VARIABLE}=$2" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s "$1" "\${pid%/environ}"
  done
}
kill -s TERM -- "-$1"
marked TERM "$2"
sleep 3
marked KILL "$2"
kill -s KILL -- "-$1"
`;

export interface LaunchedEngine {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly lifeline: Socket;
}

/**
 * Starts a command as the leader of a process group of its own.
 *
 * **Contract:** when this process ends, however it ends, the group and what carries its mark get SIGTERM, and SIGKILL three
 * seconds later. The command inherits standard input, output and error and nothing else.
 */
export function launchEngine(options: {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
}): LaunchedEngine {
  const child = spawn('/bin/sh', ['-c', LAUNCH, 'tidemark-engine', WATCH, ...options.command], {
    cwd: options.cwd,
    env: { ...options.env, [MARK_VARIABLE]: options.mark },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  }) as unknown as ChildProcessByStdio<Writable, Readable, Readable>;
  const lifeline = child.stdio[LIFELINE_FD] as unknown as Socket;
  lifeline.on('error', () => {});
  lifeline.unref();
  return { child, lifeline };
}
