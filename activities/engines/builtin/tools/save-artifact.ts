import { posix } from 'node:path';
import { z } from 'zod';
import { utf8Bytes } from '../../../../contract/frames.ts';
import { contentTypeOf } from './content-type.ts';
import { readPart } from './file-part.ts';
import { executableTool, succeeded, ToolFault, type ToolContext } from './tool.ts';
import { briefly, placeInWorkspace, quoted } from './workspace-path.ts';

const CONTENT_TYPE = /^[A-Za-z0-9][\w!#$&^.+-]{0,63}\/[A-Za-z0-9][\w!#$&^.+-]{0,63}(; ?charset=[A-Za-z0-9-]{1,32})?$/;

export const saveArtifact = executableTool({
  name: 'save_artifact',
  label: 'Save artifact',
  description:
    'Keeps a file of the workspace, or a text, as an artifact of this run, which the user can download. Use it for what you were asked to make. Give path or text, not both.',
  schema: z.strictObject({
    path: z.string().min(1).max(1_024).optional().describe('A file relative to the workspace, as it is now.'),
    text: z.string().min(1).optional().describe('The content itself, where there is no file.'),
    name: z.string().min(1).max(200).optional().describe("What it is called; the file's own name when left out."),
    content_type: z
      .string()
      .regex(CONTENT_TYPE)
      .optional()
      .describe('Such as text/csv; found by the name when left out.'),
  }),
  approval: 'never',
  repeatable: true,
  parallelSafe: true,
  describe: ({ path, name, text = '' }) =>
    path === undefined ? `Save ${String(utf8Bytes(text))} bytes as ${name ?? 'an artifact'}` : `Save ${briefly(path)}`,
  async execute({ path, text, name, content_type: type }, context) {
    const called = nameOf(name ?? (path === undefined ? 'artifact.txt' : posix.basename(path)));
    const content = await contentOf({ path, text }, context);
    const contentType = type ?? contentTypeOf(called);
    const artifactId = context.artifactIdOf(content);
    const said = succeeded(`kept ${quoted(called)} as artifact ${artifactId} (${String(content.length)} bytes)`, {
      artifactId,
      bytes: content.length,
    });
    return { ...said, saved: { name: called, contentType, content } };
  },
});

function nameOf(name: string): string {
  if (/^\.{0,2}$|[/\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name))
    throw new ToolFault(`${JSON.stringify(name)} is no name for a file; use letters, digits, - and .`);
  return name;
}

async function contentOf(
  { path, text }: { path: string | undefined; text: string | undefined },
  { workspace, limits }: ToolContext,
): Promise<Buffer> {
  if ((path === undefined) === (text === undefined)) throw new ToolFault('give either path or text');
  const { content, total } = text === undefined ? await readFileAt(path ?? '') : given(Buffer.from(text));
  if (total <= limits.artifactBytes) return content;
  throw new ToolFault(
    `the content has ${String(total)} bytes and ${String(limits.artifactBytes)} are allowed; save it in parts`,
  );

  async function readFileAt(named: string): Promise<{ content: Buffer; total: number }> {
    const { place, shown } = await placeInWorkspace(workspace, named);
    const { bytes, total: size } = await readPart({ place, shown, offset: 0, size: limits.artifactBytes });
    if (size > limits.artifactBytes || bytes.length === size) return { content: bytes, total: size };
    throw new ToolFault(`${quoted(shown)} has changed while it was read; try again`);
  }
}

function given(content: Buffer): { content: Buffer; total: number } {
  return { content, total: content.length };
}
