/** Names to show in place of ids in a text; an id without one stays. */
export type TextNames = {
  readonly ofUser: (id: string) => Promise<string | null>;
  readonly ofChannel: (id: string) => Promise<string | null>;
};

const REFERENCE = /<([^<>]+)>/g;

/** Turns Slack's notation into what people see: names instead of ids, addresses, plain characters. */
export async function readSlackText(text: string, names: TextNames): Promise<string> {
  const references = [...text.matchAll(REFERENCE)];
  const words = await Promise.all(references.map(([, inner = '']) => readReference(inner, names)));
  let plain = '';
  let end = 0;
  for (const [index, reference] of references.entries()) {
    plain += text.slice(end, reference.index) + words[index];
    end = reference.index + reference[0].length;
  }
  return unescapeSlack(plain + text.slice(end));
}

/** Tells whether a text in Slack's notation mentions the user. */
export function mentionsUser(text: string, userId: string): boolean {
  return text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
}

async function readReference(inner: string, names: TextNames): Promise<string> {
  const bar = inner.indexOf('|');
  const target = bar === -1 ? inner : inner.slice(0, bar);
  const label = bar === -1 ? '' : inner.slice(bar + 1);
  const id = target.slice(1);
  switch (target.charAt(0)) {
    case '@':
      return `@${label || ((await names.ofUser(id)) ?? id)}`;
    case '#':
      return `#${label || ((await names.ofChannel(id)) ?? id)}`;
    case '!':
      // <!here>, <!subteam^S1|@team>, <!date^…|tomorrow>
      return label || `@${id}`;
    default:
      return label === '' || target.replace(/^(https?:\/\/|mailto:|tel:)/, '') === label
        ? label || target
        : `[${label.replace(/[[\]]/g, '')}](${target})`;
  }
}

function unescapeSlack(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
