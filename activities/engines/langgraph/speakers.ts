import { z } from 'zod';

const Namespace = z.array(z.string()).catch([]);

/** Who says a frame: the run's own agent (`child` is null), or the sub-agent that works in a namespace. */
export interface Speaker {
  readonly child: string | null;
  /** The sub-agent that began this one. */
  readonly parent: string | null;
}

export const ROOT: Speaker = { child: null, parent: null };

/** A graph, or a model, in a call of the node `tools` is a sub-agent; a graph that is a node of its own speaks for the run. */
const IN_A_CALL = 'tools:';
const SEPARATOR = '|';
/** What tells the second graph in one place, and those after it, from the first. */
const COUNT = /^\d+$/;

export function speakerIn(namespace: readonly string[]): Speaker {
  const agents = namespace.flatMap((segment, index) => {
    if (!segment.startsWith(IN_A_CALL)) return [];
    const next = namespace[index + 1] ?? '';
    return [COUNT.test(next) ? `${segment}${SEPARATOR}${next}` : segment];
  });
  return { child: agents.at(-1) ?? null, parent: agents.at(-2) ?? null };
}

/** Where a sub-agent works: the place of the node, which several calls can share. */
export function placeOf(child: string): string {
  return child.split(SEPARATOR)[0] ?? child;
}

export function namespaceOf(value: unknown): string[] {
  return Namespace.parse(value);
}

/** Who speaks in the place of a node, as a checkpoint names it; null where none is named. */
export function speakerAt(checkpointNamespace: string): Speaker | null {
  return checkpointNamespace === '' ? null : speakerIn(checkpointNamespace.split(SEPARATOR));
}
