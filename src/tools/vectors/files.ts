import { sealedVectors } from './index.ts';
import { sealedV2Vectors } from './v2/index.ts';

/** The texts of the files in test/vectors, by name. */
export const vectorFiles = () => ({
  'sealed-v1.json': vectorsText(sealedVectors()),
  'sealed-v2.json': vectorsText(sealedV2Vectors()),
});

/** The text of a file of vectors. It is ASCII only, so that no editor or parser can change a character. */
function vectorsText(vectors: object): string {
  const escaped = JSON.stringify(vectors, null, 2).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}
