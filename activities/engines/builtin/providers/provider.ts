/** A provider's types: those of its register kind (`contract/extensions/register-kinds.ts`). */
export type {
  CallOptions,
  OnProviderEvent,
  ProviderEvent,
  ProviderRecord as Provider,
} from '../../../../contract/extensions/register-kinds.ts';
