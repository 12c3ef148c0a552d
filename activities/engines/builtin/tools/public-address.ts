import { lookup as systemLookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { ToolFault } from './tool.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a host name. */
export type Lookup = (host: string) => Promise<readonly Address[]>;

export const lookupAll: Lookup = async (host) => await systemLookup(host, { all: true, verbatim: true });

/** The cloud's own service address that is not in a private range (Azure). */
const RESERVED_BY_CLOUDS = new Set(['168.63.129.16']);
/** Every global IPv6 address begins so; what ipaddr.js has no name for elsewhere (`::7f00:1`) is none. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Whether an address is one of the public Internet; IPv4 inside IPv6 is judged as what it is. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast') return false;
  return ip.kind() === 'ipv4' ? !RESERVED_BY_CLOUDS.has(ip.toString()) : ip.match(GLOBAL_IPV6);
}

/**
 * The addresses that a URL may be fetched from.
 *
 * **Contract:** every one is public, unless `host:port` is in `allow`; a host with one address that is not is refused whole.
 * The caller connects to these and to no others, so that a name that resolves differently a moment later changes nothing.
 *
 * @throws ToolFault
 */
export async function vettedAddresses(url: URL, allow: readonly string[], lookup: Lookup): Promise<readonly Address[]> {
  const host = url.hostname.replaceAll(/^\[|\]$|\.$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isAllowed = [`${host}:${port}`, `${url.hostname}:${port}`].some((pair) => allow.includes(pair));
  const addresses = ipaddr.isValid(host)
    ? [{ address: host, family: ipaddr.parse(host).kind() === 'ipv4' ? 4 : 6 }]
    : await resolve(host, lookup);
  if (isAllowed || addresses.every(({ address }) => isPublic(address))) return addresses;
  throw new ToolFault(`${host} is not on the public Internet and may not be fetched; use a public address`);
}

async function resolve(host: string, lookup: Lookup): Promise<readonly Address[]> {
  let addresses: readonly Address[] = [];
  try {
    addresses = await lookup(host);
  } catch {
    // said below: a name that cannot be resolved has no addresses
  }
  if (addresses.length === 0) throw new ToolFault(`the host ${host} could not be found; check the URL`);
  return addresses;
}
