import type { TranslateFrame } from '../../../contract/translation.ts';
export const translateLangGraphFrame: TranslateFrame = () => ({ said: undefined });
