import { z } from 'zod';

const Namespace = z.array(z.string()).catch([]);

/** Who says a frame: the run's own agent (`child` is null), or the sub-agent that works in a namespace. */
export interface Speaker {
  readonly child: string | null;
  /** The sub-agent that began this one. */
  readonly parent: string | null;
}

export const ROOT: Speaker = { child: null, parent: null };

/** A graph in a call of the node `tools` is a sub-agent; one that is a node of its own graph speaks for the run. */
const IN_A_CALL = 'tools:';

export function speakerIn(namespace: readonly string[]): Speaker {
  const calls = namespace.filter((segment) => segment.startsWith(IN_A_CALL));
  return { child: calls.at(-1) ?? null, parent: calls.at(-2) ?? null };
}

export function namespaceOf(value: unknown): string[] {
  return Namespace.parse(value);
}

/** The namespace of the call that a node of the graph carried out: `tools:…` of its checkpoint's. */
export function callNamespaceOf(checkpointNamespace: string): string | null {
  return speakerIn(checkpointNamespace.split('|')).child;
}
