/* Emits what NCCL emits through NVTX: its domain, the schemas of its payloads, ranges with
 * payloads. No GPU is needed. */
#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct init {
    uint64_t communicator;
    int rank_count, rank, device;
};
struct all_reduce {
    uint64_t communicator;
    size_t bytes;
    int operation;
};
struct all_gather {
    uint64_t communicator;
    size_t bytes;
};
struct message {
    uint64_t communicator;
    size_t bytes;
    int peer;
};

static const nvtxPayloadSchemaEntry_t INIT[] = {
    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", NULL, 0, offsetof(struct init, rank_count)},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", NULL, 0, offsetof(struct init, rank)},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", NULL, 0, offsetof(struct init, device)},
};
static const nvtxPayloadSchemaEntry_t ALL_REDUCE[] = {
    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0,
     offsetof(struct all_reduce, bytes)},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Reduction operation", NULL, 0,
     offsetof(struct all_reduce, operation)},
};
static const nvtxPayloadSchemaEntry_t ALL_GATHER[] = {
    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0,
     offsetof(struct all_gather, bytes)},
};
static const nvtxPayloadSchemaEntry_t MESSAGE[] = {
    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0,
     offsetof(struct message, bytes)},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", NULL, 0, offsetof(struct message, peer)},
};

static nvtxDomainHandle_t domain;

static uint64_t schema(uint64_t number, const nvtxPayloadSchemaEntry_t* entries, size_t count,
                       size_t size) {
    nvtxPayloadSchemaAttr_t attributes = {0};
    attributes.fieldMask =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = entries;
    attributes.numEntries = count;
    attributes.payloadStaticSize = size;
    attributes.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + number;
    return nvtxPayloadSchemaRegister(domain, &attributes);
}

static void range(const char* name, uint64_t schema_id, const void* payload, size_t size) {
    nvtxPayloadData_t data = {schema_id, size, payload};
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, name);
    if (payload != NULL) {
        attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
        attributes.reserved0 = 1;
        attributes.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
    }
    nvtxDomainRangePushEx(domain, &attributes);
    usleep(100);
    nvtxDomainRangePop(domain);
}

int main(void) {
    domain = nvtxDomainCreateA("NCCL");
    uint64_t init_id = schema(11, INIT, COUNT(INIT), sizeof(struct init));
    uint64_t all_reduce_id = schema(5, ALL_REDUCE, COUNT(ALL_REDUCE), sizeof(struct all_reduce));
    uint64_t all_gather_id = schema(4, ALL_GATHER, COUNT(ALL_GATHER), sizeof(struct all_gather));
    uint64_t send_id = schema(9, MESSAGE, COUNT(MESSAGE), sizeof(struct message));
    struct init init = {0xFEDCBA9876543210u, 16, 5, 1};
    struct all_reduce all_reduce = {0xFEDCBA9876543210u, 5000000000u, 0};
    struct all_gather all_gather = {0xFEDCBA9876543210u, 67108864};
    struct message message = {7, 128, 2};
    range("ncclCommInitRankConfig", init_id, &init, sizeof init);
    range("ncclAllReduce", all_reduce_id, &all_reduce, sizeof all_reduce);
    range("ncclAllGather", all_gather_id, &all_gather, sizeof all_gather);
    range("ncclSend", send_id, &message, sizeof message);
    range("ncclGroupEnd", 0, NULL, 0);
    return 0;
}
