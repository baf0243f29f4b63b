import { renderUnicodeCompact } from 'uqr';
import { z } from 'zod';
import { defineCommand } from '../host/contracts/command.ts';
import { SCOPES } from '../http/route.ts';

const Links = z.array(z.string());
const MAY = {
  read: 'look, and nothing else',
  talk: 'look and speak in chats',
  admin: 'do all that you may',
} as const;

export const command = defineCommand({
  scope: 'owner',
  name: 'dashboard',
  topic: 'assistant',
  help: 'makes a link that lets one browser in to the page; `/dashboard read` or `talk` for one that may do less',
  isQuick: true,
  complete: () => [...SCOPES],
  async run({ callService, drawsCodes }, argument) {
    const scope = SCOPES.find((one) => one === (argument.trim() || 'admin'));
    if (scope === undefined) {
      return { kind: 'answer', text: 'Say `/dashboard`, `/dashboard read` or `/dashboard talk`.' };
    }
    const made = await callService('dashboard', { kind: 'link', scope }).catch(() => null);
    const links = Links.safeParse(made).data ?? [];
    if (links.length === 0) {
      return { kind: 'answer', text: 'The page does not run now. `/status` says why.' };
    }
    const text = [
      `This link lets one browser in, once, within a minute. It may then ${MAY[scope]}.`,
      ...links,
      ...(links.length === 1
        ? ['It works on this machine. For a phone, run `npx claw setup dashboard` there.']
        : ['For a camera:', codeOf(links[0] ?? '', drawsCodes)]),
    ].join('\n\n');
    return { kind: 'answer', text };
  },
});

/** Returns a QR code: for a terminal that draws it, or drawn of blocks for a chat that shows code in one width. */
function codeOf(link: string, isDrawn: boolean): string {
  return isDrawn
    ? `\`\`\`qr\n${link}\n\`\`\``
    : `\`\`\`\n${renderUnicodeCompact(link, { border: 2 })}\n\`\`\``;
}
