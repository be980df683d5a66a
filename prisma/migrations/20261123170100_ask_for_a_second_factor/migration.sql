-- The version before writes none of these columns.
ALTER TABLE "developers" ADD COLUMN "require_confirmation" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "totp_attempts" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "totp_attempts_since" TIMESTAMPTZ(3),
ADD COLUMN "totp_enabled_at" TIMESTAMPTZ(3),
ADD COLUMN "totp_last_step" BIGINT,
ADD COLUMN "totp_secret_encrypted" BYTEA,
ADD CONSTRAINT "developers_totp_has_a_secret" CHECK ("totp_enabled_at" IS NULL OR "totp_secret_encrypted" IS NOT NULL),
ADD CONSTRAINT "developers_totp_secret_is_sealed" CHECK (octet_length("totp_secret_encrypted") = 48);

-- CreateTable
CREATE TABLE "recovery_codes" (
    "developer_id" UUID NOT NULL,
    "code_hash" BYTEA NOT NULL,

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("developer_id","code_hash"),
    CONSTRAINT "recovery_codes_code_hash_is_sha256" CHECK (octet_length("code_hash") = 32)
);

-- AddForeignKey
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
