import { defineService } from '../host/contracts/service.ts';

const inHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export const service = defineService({
  name: 'queue-page',
  async start({ route, store, assistantName }) {
    const { url } = await route({
      method: 'GET',
      path: '/',
      handle() {
        const { queued, running } = store.turns.counts();
        const chats = store.groups.all().map(({ name }) => `<li>${inHtml(name)}</li>`);
        const lines = [
          `<!doctype html><meta charset="utf-8"><title>${inHtml(assistantName)}</title>`,
          `<p>${queued} turns wait, ${running} run.</p>`,
          `<ul>${chats.join('')}</ul>`,
        ];
        return { headers: { 'content-type': 'text/html; charset=utf-8' }, body: lines.join('\n') };
      },
    });
    return { stop() {}, status: () => `shows the queue at ${url}` };
  },
});
