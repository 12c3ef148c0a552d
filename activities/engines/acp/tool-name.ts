/** What is known of a call when it is first seen. */
interface FirstSight {
  readonly toolCallId: string;
  readonly name?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly kind?: string | null | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * The tool that a call is of. Only some agents give its name: gemini's ids begin with it (`read_file__…`), OpenCode's first title
 * is it; else the kind says what the tool does.
 */
export function toolNameOf({ toolCallId, name, title, kind, _meta }: FirstSight): string {
  if (typeof name === 'string' && name !== '') return name;
  const claude = _meta?.['claudeCode'] as { toolName?: unknown } | null | undefined;
  if (typeof claude?.toolName === 'string') return claude.toolName;
  const [prefix, rest] = toolCallId.split('__', 2);
  if (prefix !== undefined && prefix !== '' && rest !== undefined && rest !== '') return prefix;
  if (title != null && /^[A-Za-z_][\w-]*$/.test(title)) return title;
  return kind ?? 'tool';
}
