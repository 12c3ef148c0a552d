import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import { ID_PREFIX, type IdNoun } from '../contract/ids.ts';

/** A new id: the noun's prefix and a UUIDv7, so ids sort by the time of their making. */
export function newId(noun: Exclude<IdNoun, 'artifact'>): string {
  return `${ID_PREFIX[noun]}_${v7()}`;
}

/** The id of content in a tenant: the same content has the same id, and another tenant's id tells nothing of it. */
export function artifactIdOf(tenantId: string, sha256: string): string {
  return `${ID_PREFIX.artifact}_${hash('sha256', `${tenantId}\n${sha256}`).slice(0, 32)}`;
}
