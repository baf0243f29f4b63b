/** Cookies of one way to a page: each goes back to the host that has set it, and all are forgotten with the way. */
export interface Cookies {
  /** Returns what to send to an address; empty for nothing. */
  of(url: URL): string;
  /** Takes what an answer sets. */
  take(url: URL, headers: string | readonly string[] | undefined): void;
}

type Cookie = { readonly value: string; readonly isSecure: boolean };

/** Of one host; what a site sets beyond these is left out. */
const MOST = 30;
const MOST_CHARACTERS = 4_096;

export function openCookies(): Cookies {
  const byHost = new Map<string, Map<string, Cookie>>();
  return {
    of({ hostname, protocol }) {
      const sent = [...(byHost.get(hostname) ?? [])].filter(
        ([, { isSecure }]) => !isSecure || protocol === 'https:',
      );
      return sent.map(([name, { value }]) => `${name}=${value}`).join('; ');
    },
    take({ hostname }, headers) {
      const own = byHost.get(hostname) ?? new Map<string, Cookie>();
      byHost.set(hostname, own);
      for (const header of [headers ?? []].flat()) {
        const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
        // A pair holds no blank, and nothing that would end the header.
        const [, name = '', value = ''] = /^([^\s=;,"]+)=([\x21-\x7e]*)$/.exec(pair) ?? [];
        if (name === '' || pair.length > MOST_CHARACTERS) continue;
        own.delete(name);
        const isOver = attributes.some((one) => /^max-age\s*=\s*(?:-|0+$)/i.test(one));
        const isSecure = attributes.some((one) => /^secure$/i.test(one));
        if (!isOver && own.size < MOST) own.set(name, { value, isSecure });
      }
    },
  };
}
