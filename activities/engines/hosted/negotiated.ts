import type { NegotiatedCapabilities } from '../../../contract/capabilities.ts';
import { ENGINE_CAPABILITIES } from '../../../contract/engines.ts';
import type { HostedKind } from '../../../infra/engine-settings.ts';

/** A session's id and what is kept of it are those of this version. */
export const HOST_PROTOCOL_VERSION = 'host/1';

/** What a kind can do, where the module and its libraries let it. */
export function negotiated(
  kind: HostedKind,
  { resumable, choosesModel }: { readonly resumable: boolean; readonly choosesModel: boolean },
): NegotiatedCapabilities {
  return { ...ENGINE_CAPABILITIES[kind], resume: resumable, modelSelection: choosesModel };
}
