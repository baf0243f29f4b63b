import { defineRouter } from '../router.ts';

/** The model that the owner has chosen for a chat or for all of them, by `/model`. */
export const router = defineRouter({
  name: 'chosen',
  order: 100,
  create:
    ({ chosenFor }) =>
    ({ group }) => {
      const chosen = chosenFor(group.folder);
      return chosen === null ? null : [chosen];
    },
});
