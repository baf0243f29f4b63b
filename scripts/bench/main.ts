/**
 * Everything that has a goal, in one run on one machine: commands, merging, containers, messages, idling.
 *
 *     npm run bench
 */
import { benchContainer, printContainer } from './container.ts';
import { benchHistory, printHistory } from './history.ts';
import { benchIdle, printIdle } from './idle.ts';
import { benchIngest, printIngest } from './ingest.ts';
import { benchLarge, printLarge } from './large.ts';
import { benchMerge, printMerge } from './merge.ts';
import { benchWarm, printWarm } from './warm.ts';

printLarge(await benchLarge(5));
printMerge(await benchMerge());
printContainer(await benchContainer(10));
printIngest(await benchIngest());
printHistory(await benchHistory());
printWarm(await benchWarm(300));
printIdle(await benchIdle(30));
process.exit(0); // Clients of channels keep timers.
