import { expect, test } from 'vitest';
import { PageRefused, pageAddress } from '../../../src/tools/web/page-address.ts';
import { isPublicAddress } from '../../../src/tools/web/public-address.ts';
import { HOSTILE } from './hostile-addresses.ts';

const OWN = ['198.51.101.20/24', '2a01:db80:1:2::5/64'];

test('two hundred hostile addresses are refused before anything is looked up', () => {
  expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(200);
  const through = HOSTILE.filter((address) => {
    try {
      pageAddress(address, OWN);
      return true;
    } catch (error) {
      return !(error instanceof PageRefused);
    }
  });
  expect(through).toEqual([]);
});

test('a redirect to each of them is refused as well', () => {
  const base = new URL('https://site.example/start');
  // Without two slashes it is a path of the same site.
  const isWhole = (address: string) => /^[a-z+-]+:\/\//i.test(address);
  const through = HOSTILE.filter(isWhole).filter((address) => {
    try {
      pageAddress(address, OWN, base);
      return true;
    } catch (error) {
      return !(error instanceof PageRefused);
    }
  });
  expect(through).toEqual([]);
});

test('addresses that people read are taken, and nothing but the part after # is left out', () => {
  const plain = [
    ['https://en.wikipedia.org/wiki/SSRF#History', 'https://en.wikipedia.org/wiki/SSRF'],
    ['http://example.com', 'http://example.com/'],
    ['https://münchen.de/straße?a=1&b=ü', 'https://xn--mnchen-3ya.de/stra%C3%9Fe?a=1&b=%C3%BC'],
    ['https://例え.jp/日本', 'https://xn--r8jz45g.jp/%E6%97%A5%E6%9C%AC'],
    ['https://example.com:8443/x', 'https://example.com:8443/x'],
    ['http://93.184.215.14/', 'http://93.184.215.14/'],
    [
      'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
      'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    ],
    ['https://example.com./a', 'https://example.com/a'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
    ['https://10.example.com/', 'https://10.example.com/'],
  ];
  expect(plain.map(([address = '']) => pageAddress(address, OWN).href)).toEqual(
    plain.map(([, href]) => href),
  );
});

test('an address inside another counts as that one', () => {
  expect(isPublicAddress('::ffff:8.8.8.8')).toBe(true);
  expect(isPublicAddress('64:ff9b::808:808')).toBe(true);
  expect(isPublicAddress('::ffff:10.0.0.1')).toBe(false);
  expect(isPublicAddress('64:ff9b::a00:1')).toBe(false);
  expect(isPublicAddress('8.8.8.8', ['8.8.8.9/30'])).toBe(false);
  expect(isPublicAddress('fe80::1%eth0')).toBe(false);
  expect(isPublicAddress('no address')).toBe(false);
});
