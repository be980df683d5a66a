/** Prints the sealed protocol's test vectors: `npm run vectors` writes them to test/vectors/sealed-v1.json. */
import { vectorsText } from './vectors/index.ts';

process.stdout.write(vectorsText());
