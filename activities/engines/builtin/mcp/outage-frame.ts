import { z } from 'zod';
import type { CanonicalBody } from '../../../../contract/canonical.ts';
import { previewText } from '../../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../../contract/platform-frames.ts';

/** A server that is down, for the run that goes on without it. */
export interface McpOutage {
  readonly server: string;
  readonly reason: string;
}

/** That a run's models are not told of a server's tools (an addition to the contract's events). */
export const McpOutageFrame = z.object({ type: z.literal('mcp-unavailable'), server: z.string(), reason: z.string() });
export type McpOutageFrame = z.infer<typeof McpOutageFrame>;

export function mcpUnavailable({ server, reason }: McpOutage): McpOutageFrame {
  return { type: 'mcp-unavailable', server, reason };
}

export function outageBody({ server, reason, type }: McpOutageFrame): CanonicalBody {
  const message = `the MCP server ${server} is not available: ${reason}; the run goes on without its tools`;
  const said = previewText(message, PREVIEW_LIMIT_CHARS);
  return { kind: 'harness.warning', message: said, code: 'mcp_server_unavailable', rawEventType: type };
}
