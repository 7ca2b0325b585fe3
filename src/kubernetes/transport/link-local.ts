import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Lookup } from './lookup.ts';

/**
 * Addresses that no API server of a shoot has: link-local addresses, which most clouds use for metadata services, and other addresses of metadata
 * services. A metadata service gives the machine's credentials to any process on it.
 */
const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
// Alibaba Cloud and Azure.
refused.addAddress('100.100.100.200', 'ipv4');
refused.addAddress('168.63.129.16', 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
// AWS and Google Cloud over IPv6.
refused.addSubnet('fd00:ec2::', 32, 'ipv6');
refused.addAddress('fd20:ce::254', 'ipv6');
// 169.254.0.0/16 embedded in IPv6: IPv4-compatible, NAT64 (RFC 6052, RFC 8215), 6to4. BlockList itself handles IPv4-mapped addresses.
refused.addSubnet('::a9fe:0', 112, 'ipv6');
refused.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
refused.addSubnet('64:ff9b:1::a9fe:0', 112, 'ipv6');
refused.addSubnet('2002:a9fe::', 32, 'ipv6');

/** Returns true if `host` is such an address; false for a host name. IPv6 is without brackets, with or without a zone. */
export const isLinkLocal = (host: string): boolean => {
  const [address = ''] = host.split('%', 1);
  return isIP(address) !== 0 && refused.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
};

/** Returns an error whose `code` `connectionError` translates. */
export const linkLocalError = (): Error =>
  Object.assign(new Error('the address is link-local'), { code: 'ELINKLOCAL' });

/** Wraps a lookup to fail if a name has such an address. One among several refuses all, because the DNS server decides which of them is tried. */
export const refusingLinkLocal =
  (lookup: Lookup): Lookup =>
  async (host, clock) => {
    const found = await lookup(host, clock);
    if (found.some(({ address }) => isLinkLocal(address))) throw linkLocalError();
    return found;
  };
