import { definePromptSection } from '../host/contracts/prompt-section.ts';

/** Says where the answer goes and which model gives it; name of the chat, time and zone are said by the core. */
export const section = definePromptSection({
  name: 'runtime',
  order: 350,
  changes: 'each-turn',
  create:
    () =>
    ({ channel, models: [first, ...others], isTask }) => {
      const fallback =
        others.length === 0 ? '' : ` (${others.join(', ')} where it gives no answer)`;
      const why = isTask ? ' This turn is a scheduled task: nobody waits for it.' : '';
      return `You speak on the channel ${channel}. Your model: ${first ?? 'unknown'}${fallback}.${why}`;
    },
});
