import { defineService } from '../host/contracts/service.ts';

export const service = defineService({
  name: 'busy-light',
  async start({ watch, owner, store }) {
    const running = new Set<string>();
    let ended = 0;
    watch((event) => {
      if (event.kind === 'began' && event.work === 'agent') running.add(event.turn);
      if (event.kind === 'ended' && running.delete(event.turn)) ended += 1;
    });
    const waiting = () => {
      const main = store.groups.main();
      return main === null ? 0 : owner.questions(main.jid).length;
    };
    const status = () => `${running.size} running, ${ended} ended, ${waiting()} questions wait`;
    return { stop() {}, status };
  },
});
