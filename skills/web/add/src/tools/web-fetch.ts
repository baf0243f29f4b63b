import { webFetch } from './web/fetch-tool.ts';
import { INTERNET } from './web/internet.ts';

export const tool = webFetch(INTERNET);
