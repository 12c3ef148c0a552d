import type { WorkerCatalog } from '../../../../contract/extension-call.ts';
import { REGISTER_KINDS } from '../../../../contract/extensions/register-kinds.ts';
import type { ExtensionHost } from './host.ts';

const DESCRIPTION_CHARS = 500;

/** What a worker has loaded, for those who ask (`GET /v1/extensions`). */
export function catalogOf({ scope }: ExtensionHost): WorkerCatalog {
  const records = REGISTER_KINDS.flatMap((kind) =>
    scope.registry.list(kind).map(({ owner, record }) => {
      const described = 'description' in record ? record.description : undefined;
      const description = described?.slice(0, DESCRIPTION_CHARS).toWellFormed() ?? null;
      return { owner, record: { kind, name: record.name ?? null, description } };
    }),
  );
  return {
    extensions: scope.loaded().map(({ name, firstParty, error }) => ({
      name,
      first_party: firstParty,
      error,
      records: records.filter(({ owner }) => owner === name).map(({ record }) => record),
    })),
    providers: scope.registry.list('provider').map(({ record }) => record.name),
  };
}
