import { webSearch } from './web/search-tool.ts';

export const tool = webSearch();
