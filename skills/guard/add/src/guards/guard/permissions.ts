import { z } from 'zod';

/** A rule about tools: for one chat's folder, or for all; `*` in a name stands for anything. */
export type ToolRule = { readonly folder: string | null; readonly tool: string };

/** Rules with commas between them: `shell`, `kids:web_*`, `club:*`. */
export const ToolRules = z
  .string()
  .default('')
  .transform((text, context) => {
    const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
    return entries.map((entry): ToolRule => {
      const [, folder = null, tool = ''] = /^(?:([\w-]+):)?([\w*-]+)$/.exec(entry) ?? [];
      if (tool === '') {
        context.addIssue({
          code: 'custom',
          message: `must list tools such as shell or kids:web_*, not "${entry.slice(0, 60)}"`,
        });
      }
      return { folder, tool };
    });
  });

/** Tells whether some rule is about a tool in a chat. */
export function concerns(
  rules: readonly ToolRule[],
  call: { readonly folder: string; readonly tool: string },
): boolean {
  return rules.some(
    ({ folder, tool }) => (folder === null || folder === call.folder) && fits(tool, call.tool),
  );
}

function fits(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[^\w]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`, 'i').test(name);
}
