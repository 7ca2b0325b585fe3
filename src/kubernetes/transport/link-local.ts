import type { LookupAddress } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/**
 * Where a machine's own network answers: link-local addresses, among them most clouds' metadata services, which hand out credentials of the
 * machine to any process on it, and the metadata services that live elsewhere. No API server of a shoot is there.
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
// 169.254.0.0/16 in the clothes of IPv6: IPv4-compatible, NAT64 (RFC 6052, RFC 8215), 6to4. IPv4-mapped addresses are known to BlockList.
refused.addSubnet('::a9fe:0', 112, 'ipv6');
refused.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
refused.addSubnet('64:ff9b:1::a9fe:0', 112, 'ipv6');
refused.addSubnet('2002:a9fe::', 32, 'ipv6');

/** Whether `host` is such an address; false for a name. IPv6 without brackets, with or without a zone. */
export const isLinkLocal = (host: string): boolean => {
  const [address = ''] = host.split('%', 1);
  return isIP(address) !== 0 && refused.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
};

/** `connectionError` shows its `code`. */
export const linkLocalError = (): Error =>
  Object.assign(new Error('the address is link-local'), { code: 'ELINKLOCAL' });

const addressesOf = (found: string | readonly LookupAddress[]): readonly string[] =>
  typeof found === 'string' ? [found] : found.map(({ address }) => address);

/**
 * Fails where a name means such an address. We connect to the address that it lets through, without a second look-up that could answer
 * otherwise. One bad address among several refuses all: which of them would be tried is the name server's choice.
 */
export const refusingLinkLocal =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      callback(error ?? (addressesOf(found).some(isLinkLocal) ? linkLocalError() : null), found, family);
    });
  };
