import { z } from 'zod';

/** Entries of a list of sites: each for one group's folder, or for all chats. */
export type SiteRule = { readonly folder: string | null; readonly site: string };

/** Lists of the sites that may be read and those that may not. */
export type SiteRules = { readonly allow: readonly SiteRule[]; readonly deny: readonly SiteRule[] };

const HOST = /^(\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)$/;

/**
 * Sites with commas or spaces between them: `example.org` for all chats, `kids:example.org` for the chat whose
 * folder is `kids`. A site includes everything below it; `*` is every site.
 */
export const SiteList = z
  .string()
  .default('')
  .transform((text, context) => {
    const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
    return entries.map((entry): SiteRule => {
      const [, folder = null, typed = ''] = /^(?:([\w-]+):)?(.*)$/.exec(entry) ?? [];
      const site = hostNameOf(typed);
      if (!HOST.test(site)) {
        context.addIssue({
          code: 'custom',
          message: `must list sites such as example.org or kids:example.org, not "${entry.slice(0, 60)}"`,
        });
      }
      return { folder, site: site.replace(/^\*\./, '') };
    });
  });

/**
 * Returns why a chat may not read a site; null where it may. What is denied counts first. Where something is
 * allowed by name, for all chats or for this one, nothing else is.
 */
export function refusalOfSite(
  { allow, deny }: SiteRules,
  { folder, host }: { readonly folder: string; readonly host: string },
): string | null {
  const concerns = (rule: SiteRule) => rule.folder === null || rule.folder === folder;
  const fits = ({ site }: SiteRule) => site === '*' || host === site || host.endsWith(`.${site}`);
  if (deny.some((rule) => concerns(rule) && fits(rule))) {
    return `The owner does not let this chat read ${host}.`;
  }
  const allowed = allow.filter(concerns);
  if (allowed.length === 0 || allowed.some(fits)) return null;
  const names = allowed.map(({ site }) => site).join(', ');
  return `The owner lets this chat read only these sites: ${names}.`;
}

/** A name as addresses have it: lower case, international letters as `xn--…`. */
function hostNameOf(typed: string): string {
  if (typed.startsWith('*')) return typed.toLowerCase();
  const url = URL.parse(/^https?:\/\//i.test(typed) ? typed : `http://${typed}`);
  return (url?.hostname ?? '').replace(/\.$/, '');
}
