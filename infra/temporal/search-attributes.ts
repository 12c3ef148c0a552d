import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { TidemarkError } from '../../contract/errors.ts';
import { SEARCH_ATTRIBUTE } from '../../contract/messages.ts';

const KEYWORD = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;

/**
 * Sees to it that the namespace knows Tidemark's search attributes: a workflow that sets an unknown one would fail for ever.
 *
 * @throws TidemarkError `unavailable` with the command to run, where they are missing and may not be added from here.
 */
export async function ensureSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  const operator = client.connection.operatorService;
  const { customAttributes } = await operator.listSearchAttributes({ namespace });
  const missing = Object.values(SEARCH_ATTRIBUTE).filter((name) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  try {
    await operator.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    });
  } catch (cause) {
    const { customAttributes: now } = await operator.listSearchAttributes({ namespace });
    if (missing.every((name) => now[name] !== undefined)) return;
    throw new TidemarkError(
      'unavailable',
      `namespace ${namespace} has no search attributes ${missing.join(', ')}`,
      `Run: ${missing
        .map(
          (name) => `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type Keyword`,
        )
        .join(' && ')}`,
      { cause },
    );
  }
}
