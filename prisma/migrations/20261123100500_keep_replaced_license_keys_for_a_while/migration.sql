CREATE TABLE "previous_license_keys" (
    "key_hash" BYTEA NOT NULL,
    "license_id" UUID NOT NULL,
    "valid_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "previous_license_keys_pkey" PRIMARY KEY ("key_hash"),
    CONSTRAINT "previous_license_keys_key_hash_is_sha256" CHECK (octet_length("key_hash") = 32)
);

-- CreateIndex
CREATE INDEX "previous_license_keys_license_id_idx" ON "previous_license_keys"("license_id");

-- AddForeignKey
ALTER TABLE "previous_license_keys" ADD CONSTRAINT "previous_license_keys_license_id_fkey" FOREIGN KEY ("license_id") REFERENCES "licenses"("id") ON DELETE CASCADE ON UPDATE CASCADE;
