import type { UserModule } from '../hosted-agent.ts';
import type { AiSdkAgent } from './agent-shape.ts';
import type { OutputSchemas } from './asked-calls.ts';

interface AiLibrary {
  readonly asSchema: (schema: unknown) => { readonly jsonSchema: unknown };
}

/** What the tools of an agent say that their results are: of one that nothing runs, what a person is asked for. */
export async function outputSchemasOf({ tools = {} }: AiSdkAgent, module: UserModule): Promise<OutputSchemas> {
  const described = Object.entries(tools).filter(([, { outputSchema }]) => outputSchema !== undefined);
  if (described.length === 0) return {};
  const { asSchema } = (await module.importLibrary('ai')) as AiLibrary;
  const schemas = described.map(async ([name, { outputSchema }]) => {
    const schema = await asSchema(outputSchema).jsonSchema;
    return [name, typeof schema === 'object' ? schema : null] as const;
  });
  return Object.fromEntries(await Promise.all(schemas));
}
