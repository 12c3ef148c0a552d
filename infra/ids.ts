import { v7 } from 'uuid';
import { ID_PREFIX, type IdNoun } from '../contract/ids.ts';

/** A new id: the noun's prefix and a UUIDv7, so ids sort by the time of their making. */
export function newId(noun: IdNoun): string {
  return `${ID_PREFIX[noun]}_${v7()}`;
}
